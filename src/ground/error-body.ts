/** Makes the body of every answer in JSON that tells of an error. */
export function errorBody(code: string, message: string, status: number) {
  return { code, message, data: { status } }
}
