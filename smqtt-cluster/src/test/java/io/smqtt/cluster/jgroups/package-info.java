// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.smqtt.cluster.jgroups;

import org.jspecify.annotations.NullMarked;
