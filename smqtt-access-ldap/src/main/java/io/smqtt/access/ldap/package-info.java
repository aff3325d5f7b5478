// SPDX-License-Identifier: Apache-2.0
/** The backend type {@code ldap}: users and access rules in a directory, with the attributes of EMQX. */
@NullMarked
package io.smqtt.access.ldap;

import org.jspecify.annotations.NullMarked;
