// SPDX-License-Identifier: Apache-2.0
/** Bans of clients by identifier, user name and address. */
@NullMarked
package io.smqtt.admin.ban;

import org.jspecify.annotations.NullMarked;
