// A thread that makes the explorer's files, so that nobody waits for it but the first visitor.

import { parentPort } from 'node:worker_threads'
import { makeExplorerFiles } from './files.ts'

parentPort?.postMessage(makeExplorerFiles())
