// SPDX-License-Identifier: Apache-2.0
/** The chain of backends: who is asked in what order, and what becomes of the answers. */
@NullMarked
package io.smqtt.access.chain;

import org.jspecify.annotations.NullMarked;
