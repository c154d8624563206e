/** What OCSF 1.3.0 says of the attributes that events may have here. Its version 1.8.0 allows the same events. */
export interface OcsfObject {
  /** The type of each attribute: one of the schema, or the name of an object below. */
  readonly attributes: Readonly<Record<string, string>>
  readonly required?: readonly string[]
  /** At least one of these must be there. */
  readonly oneOf?: readonly string[]
}

export const OCSF_OBJECTS: Readonly<Record<string, OcsfObject>> = {
  authentication: {
    attributes: {
      activity_id: 'integer',
      activity_name: 'string',
      actor: 'actor',
      category_name: 'string',
      category_uid: 'integer',
      class_name: 'string',
      class_uid: 'integer',
      dst_endpoint: 'network_endpoint',
      is_remote: 'boolean',
      message: 'string',
      metadata: 'metadata',
      service: 'service',
      session: 'session',
      severity: 'string',
      severity_id: 'integer',
      src_endpoint: 'network_endpoint',
      status: 'string',
      status_code: 'string',
      status_detail: 'string',
      status_id: 'integer',
      time: 'timestamp',
      type_name: 'string',
      type_uid: 'integer',
      unmapped: 'any',
      user: 'user',
    },
    required: ['activity_id', 'category_uid', 'class_uid', 'metadata', 'severity_id', 'time', 'type_uid', 'user'],
    oneOf: ['service', 'dst_endpoint'],
  },
  actor: { attributes: { session: 'session', user: 'user' }, oneOf: ['user', 'session'] },
  metadata: {
    attributes: { event_code: 'string', product: 'product', uid: 'string', version: 'string' },
    required: ['product', 'version'],
  },
  network_endpoint: { attributes: { ip: 'ip', name: 'string' }, oneOf: ['ip', 'name'] },
  product: { attributes: { name: 'string', vendor_name: 'string', version: 'string' }, required: ['vendor_name'] },
  service: { attributes: { name: 'string', uid: 'string' } },
  session: { attributes: { created_time: 'timestamp', expiration_reason: 'string', uid: 'string' } },
  user: { attributes: { name: 'string', uid: 'string' }, oneOf: ['name', 'uid'] },
}

/** The names of the numbers. A status of 99 has a name of the sender. */
export const OCSF_NAMES: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  activity: { 0: 'Unknown', 1: 'Logon', 2: 'Logoff', 99: 'Other' },
  severity: { 0: 'Unknown', 1: 'Informational', 2: 'Low', 3: 'Medium', 4: 'High', 5: 'Critical', 6: 'Fatal' },
  status: { 0: 'Unknown', 1: 'Success', 2: 'Failure' },
}
