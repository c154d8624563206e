import { serveDevices } from '../../../lib/sessions'

export { serveDevices as GET, serveDevices as POST }
