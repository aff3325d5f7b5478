// SPDX-License-Identifier: Apache-2.0
/** Objects that operators change while the broker runs. They survive a restart, and are the same on all nodes of a cluster. */
@NullMarked
package io.smqtt.admin.object;

import org.jspecify.annotations.NullMarked;
