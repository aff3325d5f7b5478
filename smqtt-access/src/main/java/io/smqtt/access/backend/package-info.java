// SPDX-License-Identifier: Apache-2.0
/**
 * What a backend of authentication and authorization implements, and what it is built from: settings, templates, rules. Backends are
 * found by {@link java.util.ServiceLoader}.
 */
@NullMarked
package io.smqtt.access.backend;

import org.jspecify.annotations.NullMarked;
