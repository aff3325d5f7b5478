// SPDX-License-Identifier: Apache-2.0
/** The paths of the API for logins, users, API keys and the audit. */
@NullMarked
package io.smqtt.admin.security;

import org.jspecify.annotations.NullMarked;
