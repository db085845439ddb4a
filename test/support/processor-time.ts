// What work costs: the processor's time, since a clock on the wall also counts who else is at work.

/** Milliseconds of processor time that this thread takes for some work. */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
