/** An answer that is more than 200 and JSON. Without it, what a handler returns is the JSON of a 200. */
export class RestAnswer {
  readonly status: number
  readonly type: string
  readonly text: string | Buffer
  readonly headers: Readonly<Record<string, string>>

  constructor(
    text: string | Buffer,
    {
      status = 200,
      type = 'application/json; charset=utf-8',
      headers = {},
    }: { status?: number; type?: string; headers?: Record<string, string> } = {},
  ) {
    this.status = status
    this.type = type
    this.text = text
    this.headers = headers
  }

  /** Makes an answer in JSON that no cache keeps. */
  static json(
    body: object,
    { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ) {
    return new RestAnswer(JSON.stringify(body), { status, headers: { 'Cache-Control': 'no-store', ...headers } })
  }
}
