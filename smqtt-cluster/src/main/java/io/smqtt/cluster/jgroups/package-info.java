// SPDX-License-Identifier: Apache-2.0
/** Carries frames by JGroups. Nothing outside of this package knows it. */
@NullMarked
package io.smqtt.cluster.jgroups;

import org.jspecify.annotations.NullMarked;
