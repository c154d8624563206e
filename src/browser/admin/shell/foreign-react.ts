import { type Component, Fragment, isValidElement, options, type VNode } from 'preact'
import type { ReactNode } from 'react'

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

/** The components of add-ons, and the components that they render. */
const watched = new WeakSet<object>()

/** Makes a component of an add-on fail with a clear error if it renders foreign elements. */
export function watchAddon(component: object): void {
  watched.add(component)
}

/** Renders what an add-on has given. */
export function AddonNode({ children }: { children: ReactNode }): ReactNode {
  return children
}
watched.add(AddonNode)

/** Looks for foreign elements, for which Preact would render nothing without a word. */
export function refuseForeignElements(): void {
  const rendering = options as RenderOptions
  const { __r: before } = rendering
  const { vnode: created } = options
  const wrapped = new WeakSet<Component>()
  options.vnode = (vnode) => {
    // Only a bundled React makes component types that are objects, for example by `memo`.
    if (typeof vnode.type === 'object' && vnode.type !== null) vnode.type = refuse
    created?.(vnode)
  }
  rendering.__r = (vnode) => {
    before?.(vnode)
    const { __c: component } = vnode
    if (!watched.has(vnode.type as object) || wrapped.has(component)) return
    wrapped.add(component)
    const { render } = component
    component.render = (...parameters) => {
      const result = render.apply(component, parameters)
      if (hasForeign(result)) refuse()
      return result
    }
  }
}

/** Looks for foreign elements in what a component has rendered, and watches the components that it uses. */
function hasForeign(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(hasForeign)
  if (!isValidElement(node)) return isForeign(node)
  const { type, props } = node as VNode
  if (typeof type === 'string' || type === Fragment) return hasForeign(props.children)
  watched.add(type)
  return false
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
