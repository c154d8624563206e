import { MemoryStore } from 'express-session'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { optionsRefusal as refusal } from '../../support/options-refusal.ts'

const invalid = (message: string | RegExp) => ({ code: 'invalid_option', message: expect.stringMatching(message) })

describe('the options of sessmgr()', () => {
  it('throw for a session store given as the store, and say where it belongs', () => {
    expect(refusal({ store: new MemoryStore() })).toMatchObject(invalid('a session store belongs in "sessionStore"'))
    for (const store of [null, {}, 'redis://localhost']) {
      expect(refusal({ store })).toMatchObject(invalid('"store" must be a store from memoryStore\\(\\)'))
    }
  })

  it('throw for a store that lacks a method, before a request asks for it', () => {
    const methods = {
      sessions: ['read', 'generationOf', 'commit', 'adopt', 'touch', 'restamp', 'end'],
      epoch: ['current', 'advance', 'advanceFrom'],
      options: ['get', 'set', 'swap', 'delete'],
      passwords: ['add', 'list', 'remove'],
      transients: ['get', 'set', 'generation', 'advance'],
    } as const
    for (const [part, names] of Object.entries(methods)) {
      for (const name of names) {
        const store = memoryStore() as unknown as Record<string, unknown>
        const lame = { ...store, [part]: Object.assign(Object.create(store[part] as object), { [name]: undefined }) }
        expect(refusal({ store: lame })).toMatchObject(invalid(`^"store.${part}.${name}" must be a function.$`))
      }
    }
    const store = memoryStore()
    for (const sessions of [{}, 5]) {
      expect(refusal({ store: { ...store, sessions } })).toMatchObject(invalid('"store.sessions.read" must be'))
    }
    expect(refusal({ store: { ...store, passwords: undefined } })).toMatchObject(invalid('"store.passwords.add" must'))
    expect(refusal({ store: { ...store, id: '' } })).toMatchObject(invalid('"store.id" must be a non-empty string'))
    for (const name of ['wipe', 'close']) {
      expect(refusal({ store: { ...store, [name]: undefined } })).toMatchObject(invalid(`"store.${name}" must be a`))
    }
  })
})
