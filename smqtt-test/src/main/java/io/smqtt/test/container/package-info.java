// SPDX-License-Identifier: Apache-2.0
/** The broker's image in a container, for tests that need a broker outside of their own process. Needs Testcontainers. */
@NullMarked
package io.smqtt.test.container;

import org.jspecify.annotations.NullMarked;
