import { STATUS_CODES } from 'node:http'
import type { ErrorRequestHandler } from 'express'

/** Responds to an error: with JSON to scripts, and with a page to browsers. Internal details are only logged. */
export const errorHandler: ErrorRequestHandler = (error, req, res, next) => {
  if (res.headersSent) return next(error)
  const status = Number(error.status) >= 400 ? Number(error.status) : 500
  if (status >= 500) console.error(error)
  const message = status < 500 ? String(error.message) : (STATUS_CODES[status] ?? 'Error')
  res.status(status).set(error.headers ?? {})
  if (req.accepts(['html', 'json']) === 'json') {
    const code = status < 500 ? (error.code ?? codeOf(status)) : 'internal_error'
    res.json({ code, message, data: { status, choice: error.choice } })
  } else {
    res.render('message', { title: STATUS_CODES[status], message })
  }
}

function codeOf(status: number): string {
  return status === 401 ? 'wrong_credentials' : 'bad_request'
}
