const factor = Number(process.env.ROUNDS ?? 1)

/** How often to repeat a random test: `quick` times in `npm test`, and many times that in the campaign. */
export const rounds = (quick: number): number => quick * factor
