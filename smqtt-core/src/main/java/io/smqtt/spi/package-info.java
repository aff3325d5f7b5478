// SPDX-License-Identifier: Apache-2.0
/** What users may plug in. Each interface is small and has an in-memory or no-op default. */
@NullMarked
package io.smqtt.spi;

import org.jspecify.annotations.NullMarked;
