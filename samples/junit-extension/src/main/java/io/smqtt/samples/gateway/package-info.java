// SPDX-License-Identifier: Apache-2.0
/** A client application, to be tested. */
package io.smqtt.samples.gateway;
