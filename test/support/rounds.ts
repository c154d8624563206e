const factor = Number(process.env.ROUNDS ?? 1)

/** How often to try what is left to chance: `quick` times in `npm test`, many times that in the campaign. */
export const rounds = (quick: number): number => quick * factor
