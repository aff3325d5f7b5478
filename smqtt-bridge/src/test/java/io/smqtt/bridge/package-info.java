// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.smqtt.bridge;

import org.jspecify.annotations.NullMarked;
