/**
 * Sees to it that what a command has said is written before the process ends: a pipe takes a part of a long list only.
 *
 * A reader who has seen enough, as `head` has, is no fault.
 *
 * @returns The exit code: the given one, or 1 where the output could not be written.
 */
export async function writtenOut(run: () => Promise<number>): Promise<number> {
  let failure: Error | undefined
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') failure ??= error
  })
  process.stderr.on('error', () => {})
  const code = await run()
  await written(process.stdout)
  if (failure) {
    process.stderr.write(`What the command did stays done, but its output could not be written: ${failure.message}\n`)
  }
  await written(process.stderr)
  return failure ? 1 : code
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => setImmediate(resolve))
  })
}
