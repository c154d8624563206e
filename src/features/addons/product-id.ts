/** Tells whether a value can be a product id. */
export function isProductId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}
