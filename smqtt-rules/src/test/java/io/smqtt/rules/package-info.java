// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.smqtt.rules;

import org.jspecify.annotations.NullMarked;
