// SPDX-License-Identifier: Apache-2.0
/** Stored password hashes, for backends that keep them in a database or directory: their formats, limits, and checks beside event loops. */
@NullMarked
package io.smqtt.access.hash;

import org.jspecify.annotations.NullMarked;
