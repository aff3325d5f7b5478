// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.smqtt.replication;

import org.jspecify.annotations.NullMarked;
