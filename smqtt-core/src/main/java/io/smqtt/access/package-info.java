// SPDX-License-Identifier: Apache-2.0
/**
 * Who may connect and what they may do: the built-in authenticators (anonymous, client certificate, password file,
 * SCRAM-SHA-256) and the built-in authorizer (ACL file), the chains that put them behind those which users plug in, and
 * the one object that reloads their files. Nothing here blocks an event loop: password hashes are computed on threads of
 * their own, and access rules are evaluated in memory.
 */
@NullMarked
package io.smqtt.access;

import org.jspecify.annotations.NullMarked;
