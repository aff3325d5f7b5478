// SPDX-License-Identifier: Apache-2.0
/** The management port of a broker, and what operators see of it. */
@NullMarked
package io.smqtt.admin;

import org.jspecify.annotations.NullMarked;
