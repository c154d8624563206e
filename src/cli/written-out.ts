/**
 * Runs a command and waits until its output has been written, because a pipe takes only part of a long list at once.
 *
 * It is not an error if the reader closes the pipe early, as `head` does.
 *
 * @returns The exit code of the command, or 1 if the output could not be written.
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
    process.stderr.write(`The command succeeded, but its output could not be written: ${failure.message}\n`)
  }
  await written(process.stderr)
  return failure ? 1 : code
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => setImmediate(resolve))
  })
}
