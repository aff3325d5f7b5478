// SPDX-License-Identifier: Apache-2.0
/** The routes of the API that show and steer the broker. */
@NullMarked
package io.smqtt.admin.broker;

import org.jspecify.annotations.NullMarked;
