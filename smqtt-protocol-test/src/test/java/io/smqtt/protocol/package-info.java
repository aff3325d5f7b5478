// SPDX-License-Identifier: Apache-2.0
/** What the two standards demand of a server, shown on a running broker from outside. */
@NullMarked
package io.smqtt.protocol;

import org.jspecify.annotations.NullMarked;
