// SPDX-License-Identifier: Apache-2.0
/**
 * Authentication and authorization: the built-in authenticators (anonymous, client certificate, password file, SCRAM-SHA-256),
 * the built-in authorizer (ACL file), the chains that ask them after those of the application, and the object that reloads
 * their files. Nothing here blocks an event loop: password hashes are computed on threads of their own, and access rules are
 * evaluated in memory.
 */
@NullMarked
package io.smqtt.access;

import org.jspecify.annotations.NullMarked;
