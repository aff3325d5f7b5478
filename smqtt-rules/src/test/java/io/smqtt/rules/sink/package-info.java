// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.smqtt.rules.sink;

import org.jspecify.annotations.NullMarked;
