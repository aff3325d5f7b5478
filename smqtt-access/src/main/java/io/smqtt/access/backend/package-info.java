// SPDX-License-Identifier: Apache-2.0
/**
 * The interface of backends for authentication and authorization, and their parts: settings, templates, rules. Backends are
 * found by {@link java.util.ServiceLoader}.
 */
@NullMarked
package io.smqtt.access.backend;

import org.jspecify.annotations.NullMarked;
