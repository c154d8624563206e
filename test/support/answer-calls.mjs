// The other side of called-process.ts, for the programs that it starts.

export const setup = JSON.parse(process.env.SETUP)

/** Tells the test something that it has not asked for. */
export const tell = (message) => new Promise((resolve) => process.send(message, resolve))

/** Lets the test call these functions, and tells it that they are ready. */
export function answerCalls(functions, ready = { ready: true }) {
  process.on('message', async ({ id, name, given }) => {
    try {
      await tell({ id, answer: await functions[name](given) })
    } catch (error) {
      await tell({ id, error: `${error.code ?? ''} ${error.stack}` })
    }
  })
  process.on('disconnect', () => process.exit())
  return tell(ready)
}
