// SPDX-License-Identifier: Apache-2.0
/** The backend type {@code jwt}: clients whose password or user name is a signed token. */
@NullMarked
package io.smqtt.access.jwt;

import org.jspecify.annotations.NullMarked;
