import * as z from 'zod/mini'

/** Schema of a catalogue row in responses. */
export const addonRowSchema = z.object({
  id: z.int(),
  title: z.string(),
  icon: z.string(),
  link: z.string(),
  description: z.string(),
  homepage: z.string(),
  is_premium: z.boolean(),
  is_active: z.boolean(),
  is_license_active: z.boolean(),
  license_key: z.string(),
  banner: z.string(),
  banner_large: z.string(),
})
