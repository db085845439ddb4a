// The headers of pages, which protect the keys that users enter into them.

/**
 * A Content-Security-Policy: nothing from another host, nothing inline, and no text becomes markup
 * except through a policy of Trusted Types that is named here.
 *
 * @param images the sources of images.
 */
export function contentPolicy(images = "'self'", trustedTypes = "'none'"): string {
  return [
    "default-src 'none'",
    "connect-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${images}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${trustedTypes}`,
  ].join('; ')
}

/** Users enter keys, so no other host may run code in a page, frame it or observe it. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentPolicy(),
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** Only pages of this origin may load these files. */
export const fileHeaders = { 'cross-origin-resource-policy': 'same-origin' } as const
