// SPDX-License-Identifier: Apache-2.0
/** Users, API keys, login tokens and roles of the management port. Independent of HTTP paths. */
@NullMarked
package io.smqtt.admin.account;

import org.jspecify.annotations.NullMarked;
