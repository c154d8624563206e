import { createHash, X509Certificate } from 'node:crypto'

/** A key and a certificate of nobody, for tests over HTTPS on this machine. */
export const CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjAxzIiZayX/mKIhT
bBwk9Adv7TRQ31VxKjGBAGwq8eOhRANCAASeyzatgAO2w1s8hv62c1f0ben51s+0
pQJrZcCfaY59KGi4ARtsynOfYD9z3ybL/J5MXby4FPmei72ubBgdTVa4
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUBsJbd8qVKvjQJ3BXBVybAm1hKAEwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEzMDE0MTYyMloYDzIxMjYxMTA2
MTQxNjIyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASeyzatgAO2w1s8hv62c1f0ben51s+0pQJrZcCfaY59KGi4ARtsynOf
YD9z3ybL/J5MXby4FPmei72ubBgdTVa4o2kwZzAdBgNVHQ4EFgQU4uSOt+hdifwR
RVPeQDTle6fCuDswHwYDVR0jBBgwFoAU4uSOt+hdifwRRVPeQDTle6fCuDswDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SAAwRQIhAP6NJ0R820neMXBcX3pU8criQcSH55zfsskMYoMunLVuAiBVZITayBY5
ONsjzrKad3bnHsPeI7AP7XnuHecilUeqOA==
-----END CERTIFICATE-----`,
}

/** By which Chromium recognizes the certificate. */
export const FINGERPRINT = createHash('sha256')
  .update(new X509Certificate(CERTIFICATE.cert).publicKey.export({ type: 'spki', format: 'der' }))
  .digest('base64')
