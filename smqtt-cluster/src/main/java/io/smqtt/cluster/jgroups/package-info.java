// SPDX-License-Identifier: Apache-2.0
/** The transport over JGroups. No other package depends on JGroups. */
@NullMarked
package io.smqtt.cluster.jgroups;

import org.jspecify.annotations.NullMarked;
