import { type ComponentType, lazy, useState } from 'react'

/** A component whose code is loaded when it is first rendered, or earlier by `load`. */
type LatePart<Props> = ComponentType<Props> & { load(): Promise<unknown> }

/** The error for a file of the screen that did not load. `load` tries again. */
export class LostFile extends Error {
  readonly load: () => Promise<unknown>

  constructor(cause: unknown, load: () => Promise<unknown>) {
    super('A file of the screen did not load.', { cause })
    this.load = load
  }
}

/** Creates a lazily loaded component. Once its code is loaded, it renders at once, without an outline first. */
export function latePart<Props extends object>(load: () => Promise<ComponentType<Props>>): LatePart<Props> {
  let loaded: ComponentType<Props> | undefined
  const loadOnce = async () => {
    try {
      loaded ??= await load()
    } catch (error) {
      throw new LostFile(error, loadOnce)
    }
    return { default: loaded }
  }
  // biome-ignore lint/correctness/noComponentHookFactories: called once for each part, when its module runs.
  function Part(props: Props) {
    // Chosen once, because switching components would lose the state. Not shared, because `lazy` keeps a failure.
    const [Chosen] = useState(() => loaded ?? lazy(loadOnce))
    return <Chosen {...props} />
  }
  return Object.assign(Part, { load: loadOnce })
}
