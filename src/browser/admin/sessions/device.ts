import type { IconName } from '../parts/icon-paths.ts'
import type { TextKey } from '../texts/use-texts.ts'

/** A device as the server returns it. The name is null if it is unknown. */
export interface Device {
  readonly name: string | null
  readonly kind: 'computer' | 'phone' | 'tablet' | 'tv' | 'program' | 'unknown'
}

/** Name and icon of each kind of device. */
export const DEVICE_KINDS: Readonly<Record<Device['kind'], { readonly text: TextKey; readonly icon: IconName }>> = {
  computer: { text: 'kind_desktop', icon: 'desktop' },
  phone: { text: 'kind_mobile', icon: 'mobile' },
  tablet: { text: 'kind_tablet', icon: 'tablet' },
  tv: { text: 'kind_tv', icon: 'desktop' },
  program: { text: 'kind_bot', icon: 'program' },
  unknown: { text: 'kind_unknown', icon: 'unknown' },
}
