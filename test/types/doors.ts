/**
 * That no export of any door is `any`, and no parameter or result of its functions. Compiled with the project, never
 * run.
 */

type IsAny<T> = 0 extends 1 & T ? true : false
type AnyIn<T> = {
  [K in keyof T]: IsAny<T[K]> extends true
    ? K
    : T[K] extends (...parameters: infer P) => infer R
      ? IsAny<R> extends true
        ? K
        : { [I in keyof P]: IsAny<P[I]> }[number] extends false
          ? never
          : true extends { [I in keyof P]: IsAny<P[I]> }[number]
            ? K
            : never
      : never
}[keyof T]
type IsNever<T> = [T] extends [never] ? true : false
const yes = <_Condition extends true>() => {}
const no = <_Condition extends false>() => {}

// First of all: it does find what it looks for.
// biome-ignore lint/suspicious/noExplicitAny: that is what is looked for.
no<IsNever<AnyIn<{ found: any }>>>()
// biome-ignore lint/suspicious/noExplicitAny: that is what is looked for.
no<IsNever<AnyIn<{ found: () => any }>>>()
// biome-ignore lint/suspicious/noExplicitAny: that is what is looked for.
no<IsNever<AnyIn<{ found: (value: any) => void }>>>()
yes<IsNever<AnyIn<{ fine: (value: string) => void; also: number }>>>()

yes<IsNever<AnyIn<typeof import('sessmgr')>>>()
yes<IsNever<AnyIn<typeof import('sessmgr/redis')>>>()
yes<IsNever<AnyIn<typeof import('sessmgr/comments')>>>()
yes<IsNever<AnyIn<typeof import('sessmgr/licensing')>>>()
yes<IsNever<AnyIn<typeof import('sessmgr/fastify')>>>()
yes<IsNever<AnyIn<typeof import('sessmgr/koa')>>>()
yes<IsNever<AnyIn<typeof import('sessmgr/explicit')>>>()
yes<IsNever<AnyIn<typeof import('sessmgr/testing')>>>()
yes<IsNever<AnyIn<import('sessmgr').Sessmgr>>>()
yes<IsNever<AnyIn<import('sessmgr').LazyComments>>>()
yes<IsNever<AnyIn<import('sessmgr').SessmgrStore>>>()
yes<IsNever<AnyIn<import('sessmgr').Hooks>>>()
yes<IsNever<AnyIn<import('sessmgr/explicit').ExplicitCalls>>>()
