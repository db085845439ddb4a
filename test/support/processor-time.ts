// Cost in processor time, since wall-clock time includes other work on the machine.

/** Milliseconds of processor time that this thread takes for a task. */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
