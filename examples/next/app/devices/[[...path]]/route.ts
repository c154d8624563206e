import { route, serveDevices } from '../../../lib/sessions'

export const GET = route(serveDevices)
export const POST = route(serveDevices)
