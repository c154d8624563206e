/** How many sessions one user may have: each login of theirs reads them all, and nobody else may have to wait for that. */
export const MOST_SESSIONS = 1000
