// Loaded into a process before anything else. Moves its clock ahead by CLOCK_SKEW_MS, or back if that is negative.
const skewMs = Number(process.env.CLOCK_SKEW_MS ?? 0)

if (skewMs !== 0) {
  const RealDate = Date
  const now = () => RealDate.now() + skewMs
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (target, property, receiver) => (property === 'now' ? now : Reflect.get(target, property, receiver)),
  })
}

export {}
