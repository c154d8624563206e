import { type Component, Fragment, isValidElement, options, type VNode } from 'preact'

const MESSAGE =
  'It uses a React of its own, which this screen cannot render. ' +
  'Use window.sessmgr.react and window.sessmgr.jsxRuntime instead.'

/** Preact's hook before each rendering of a component. Preact's own dev tools use these names. */
interface RenderOptions {
  __r?: (vnode: VNode & { readonly __c: Component }) => void
}

/** Checks whether a value is an element of a React that an add-on has bundled. */
export function isForeign(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { $$typeof } = value as { $$typeof?: unknown }
  // The screen's own elements have the same symbol.
  return typeof $$typeof === 'symbol' && String($$typeof).startsWith('Symbol(react.') && !isValidElement(value)
}

/** Makes foreign elements fail with a clear error, because Preact would render nothing without a word. */
export function refuseForeignElements(): void {
  const rendering = options as RenderOptions
  const { __r: before } = rendering
  const { vnode: created } = options
  const watched = new WeakSet<Component>()
  options.vnode = (vnode) => {
    // Only a bundled React makes component types that are objects, for example by `memo`.
    if (typeof vnode.type === 'object' && vnode.type !== null) vnode.type = refuse
    created?.(vnode)
  }
  rendering.__r = (vnode) => {
    before?.(vnode)
    const { __c: component } = vnode
    if (watched.has(component)) return
    watched.add(component)
    const { render } = component
    component.render = (...parameters) => {
      const result = render.apply(component, parameters)
      if (hasForeign(result)) refuse()
      return result
    }
  }
}

/** Looks for foreign elements in what a component has rendered, but not in the children of other components. */
function hasForeign(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(hasForeign)
  if (!isValidElement(node)) return isForeign(node)
  const { type, props } = node as VNode
  return (typeof type === 'string' || type === Fragment) && hasForeign(props.children)
}

function refuse(): never {
  throw new Error(MESSAGE)
}

/** A hook without its renderer, in the words of each browser. */
const FOREIGN_HOOK = /null.*\buse[A-Z]|\buse[A-Z].*null/s

/** Returns a clear error for a hook of a bundled React. Returns any other error unchanged. */
export function explained(error: unknown): unknown {
  return error instanceof TypeError && FOREIGN_HOOK.test(error.message) ? new Error(MESSAGE, { cause: error }) : error
}
