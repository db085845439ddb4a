// The parts of the application that endpoints use.

import type { Resource } from '../resources/resource.ts'
import type { Awaitable } from '../store/awaitable.ts'
import type { KeyUses } from '../store/keys.ts'
import type { StoreReader } from '../store/serving/store-reader.ts'
import { createAnswerCache } from './answers/answer-cache.ts'
import { createChangeWatch } from './change-watch.ts'
import type { Metrics } from './metrics.ts'
import { createTurns, type ScanLimits, scanLimits } from './scan-turns.ts'
import { type AssetLimits, assetLimits, createSendAsset } from './static-assets.ts'
import { type WireLimits, wireLimits } from './wire/server.ts'
import { createBeginStream, type StreamHooks } from './wire/streaming.ts'

export interface ServiceOptions {
  readonly resources: readonly Resource[]
  readonly store: StoreReader
  /** Reads the uses of a key; undefined, or without a result, if they are not counted. */
  readonly readUses?: ((keyId: number) => Awaitable<KeyUses | undefined>) | undefined
  /** The folder of complete copies; undefined without one. */
  readonly exportsFolder?: string | undefined
  readonly cacheBytesMax: number
  /** Undefined if metrics are off. */
  readonly metrics?: Metrics | undefined
  readonly limits: Pick<WireLimits, 'connectionsMax'> &
    Partial<WireLimits & AssetLimits & ScanLimits>
}

export type Service = ReturnType<typeof createService>

/** @param draining is aborted when the service begins to stop. */
export function createService(
  { cacheBytesMax, limits: given, ...options }: ServiceOptions,
  draining: AbortSignal,
  hooks: StreamHooks,
) {
  const { store, resources, readUses, exportsFolder, metrics } = options
  const limits = { ...wireLimits, ...assetLimits, ...scanLimits, ...given }
  return {
    store,
    resources,
    readUses,
    exportsFolder,
    metrics,
    answers: createAnswerCache(cacheBytesMax),
    sendAsset: createSendAsset(limits),
    beginStream: createBeginStream(hooks, limits),
    turns: createTurns(limits),
    watch: createChangeWatch(store, draining, metrics?.countWaiting),
    /** Whether the service is stopping, so that new requests should go elsewhere. */
    isDraining: () => draining.aborted,
    checkKeyAgain: hooks.checkKeyAgain,
  }
}
