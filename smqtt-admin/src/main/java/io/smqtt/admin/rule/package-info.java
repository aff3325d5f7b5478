// SPDX-License-Identifier: Apache-2.0
/** Rules, as operators see and change them. */
@NullMarked
package io.smqtt.admin.rule;

import org.jspecify.annotations.NullMarked;
