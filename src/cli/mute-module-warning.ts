/** Keeps Node from warning, in words of its own, of an ES module in a CommonJS project: the error says it better. */
export function muteModuleWarning(): void {
  const listeners = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (/^(To load an|Failed to load the) ES module/.test(warning.message)) return
    for (const listener of listeners) listener(warning)
  })
}
