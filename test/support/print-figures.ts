/** Prints what a campaign has measured, one line per part. */
export function printFigures(what: string, figures: object): void {
  const text = Object.entries(figures).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  console.log(`    ${what}: ${text.join(', ')}`)
}
