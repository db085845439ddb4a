// The gain of a second worker.

import { availableParallelism } from 'node:os'
import { figure, type Measure } from './figures.ts'
import { makeStore, rightsOf } from './files.ts'
import { load, type Question, type Server, startDossier } from './processes.ts'

const rounds = 5
const roundSeconds = 2

/**
 * Compares two workers with one: random pages, cache off.
 *
 * With four cores, the server has two and two generators have one each; the result is the ratio of
 * throughputs. With fewer, each server has one core, and the result is what the processor time of a
 * request leaves of twice the throughput: two workers could share locks, and wait for each other.
 */
export const twoWorkers: Measure = async (scale) => {
  const { db, key } = makeStore(rightsOf(1e6 * scale, 20))
  const hasCores = availableParallelism() >= 4
  const question = { key, path: '/api/v1/companies/{}/rights', companies: (1e6 * scale) / 20 }
  const generators = hasCores ? [2, 3] : [1]
  const questions = generators.map((core): Question => ({ ...question, core }))
  const cores = hasCores ? '0,1' : '0'
  await using one = await startDossier(db, 0, [], cores)
  await using two = await startDossier(db, 0, ['--workers', '2'], cores)
  const ratios: number[] = []
  for (const server of [one, two]) await loadAll(server, questions)
  for (let round = 0; round < rounds; round++) {
    const ofOne = await loadAll(one, questions)
    const ofTwo = await loadAll(two, questions)
    ratios.push(hasCores ? ofTwo.perSecond / ofOne.perSecond : (2 * ofOne.cpuUs) / ofTwo.cpuUs)
  }
  const how = hasCores ? '' : ', by processor time'
  return [figure(`two workers${how}`, '÷ one', ratios, { least: 1.7 })]
}

/** The sum of several generators. */
async function loadAll(
  server: Server,
  questions: readonly Question[],
): Promise<{ perSecond: number; cpuUs: number }> {
  const loads = await Promise.all(questions.map((asked) => load(server, asked, roundSeconds)))
  const perSecond = loads.reduce((sum, one) => sum + one.perSecond, 0)
  return { perSecond, cpuUs: loads[0]?.cpuUs ?? 0 }
}
